// The page of a request that failed: a key may be entered for the pages that it leads to.
import { keyForm } from "./api.js";

keyForm(() => location.assign("/"));
document.documentElement.dataset.state = "ready";

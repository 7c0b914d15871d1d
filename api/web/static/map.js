// The map: the home's own layers as its base, and the places of an answer over them. No glyph or sprite is fetched, and tiles
// come from the home alone.
import * as maplibre from "/assets/vendor/maplibre-gl.mjs";
import { authorization, get, query } from "./api.js";
import { h } from "./dom.js";
import { words } from "./text.js";

maplibre.setWorkerUrl("/assets/vendor/maplibre-gl-worker.mjs");

const PAGE = 500, SETTLED_MS = 400, CLOSER = 1, FAR = 9, CLOSE = 13;
const LIGHT = { ground: "#f3f1ea", fill: "#fbfaf6", line: "#a9a698", point: "#8d8a7c", cited: "#b3541e", lit: "#0b5fa5" };
const DARK = { ground: "#14171a", fill: "#1d2226", line: "#4b545b", point: "#6f7a82", cited: "#e8935a", lit: "#6cb8ff" };
const ROLES = ["match", ["get", "role"], "result", 0.5, "subject", 0.35, 0.12];
const INPUT = (input, other) => ["match", ["get", "role"], "input", input, other]; // what was read for an answer, beside what it is about
const ABOVE = { anchor: "bottom", offset: [0, -9] }; // the name of a point does not lie on it, nor on another
const IS = type => ["==", ["geometry-type"], type];
const collection = features => ({ type: "FeatureCollection", features });

export class EvidenceMap extends EventTarget {
  #map; #dark = matchMedia("(prefers-color-scheme: dark)"); #markers = []; #read = new Map();

  constructor(container) {
    super();
    this.#map = new maplibre.Map({
      container, style: { version: 8, sources: {}, layers: [{ id: "ground", type: "background" }] },
      center: [-98, 38.5], zoom: 4, attributionControl: false, dragRotate: false, pitchWithRotate: false,
      locale: { "Map.Title": words.ask.map }, fadeDuration: 0, transformRequest: url => ({ url, headers: authorization() }),
    });
    this.#map.addControl(new maplibre.NavigationControl({ showCompass: false }), "top-right");
    this.#map.touchZoomRotate.disableRotation();
    this.ready = new Promise(done => this.#map.once("load", done)).then(() => this.#prepare());
    this.#map.on("moveend", () => {
      this.dispatchEvent(new Event("move"));
      clearTimeout(this.settling);
      this.settling = setTimeout(() => this.#refill(), SETTLED_MS);
    });
  }

  // West, south, east, north of what is shown, to five decimals.
  get box() {
    const bounds = this.#map.getBounds(), round = value => Math.round(value * 1e5) / 1e5;
    const clamp = (value, most) => Math.max(-most, Math.min(most, round(value)));
    return [clamp(bounds.getWest(), 180), clamp(bounds.getSouth(), 90), clamp(bounds.getEast(), 180), clamp(bounds.getNorth(), 90)];
  }

  async showLayers(layers) {
    await this.ready;
    const boxes = layers.map(layer => layer.extent.spatial.bbox[0]).filter(box => box[0] <= box[2]);
    if (boxes.length) this.fit([0, 1].map(at => Math.min(...boxes.map(b => b[at]))).concat([2, 3].map(at => Math.max(...boxes.map(b => b[at])))));
    await Promise.all(layers.map(layer => this.#addLayer(layer)));
  }

  // The features of an answer, as the API gives them, with the number of their citation.
  async showAnswer(features, box) {
    await this.ready;
    this.#markers.forEach(marker => marker.remove());
    this.#map.getSource("cited").setData(collection(features));
    this.#markers = features.filter(each => each.properties.role !== "input").slice(0, 24).map(each => this.#marker(each));
    this.light(null);
    if (box) this.fit(box);
  }

  async light(n) {
    await this.ready;
    this.#map.setFilter("lit", ["==", ["get", "citation"], n ?? -1]);
    for (const marker of this.#markers) {
      marker.getElement().classList.toggle("lit", marker.getElement().dataset.n === String(n));
    }
  }

  fit(box) {
    const [west, south, east, north] = box, still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.#map.fitBounds([[west, south], [east < west ? east + 360 : east, north]], { padding: { top: 56, bottom: 40, left: 72, right: 112 }, maxZoom: west === east && south === north ? FAR : CLOSE, animate: !still, duration: 500 });
  }

  #marker({ properties, geometry, bbox }) {
    const [west, south, east, north] = bbox ?? [...geometry.coordinates, ...geometry.coordinates];
    const label = h("span", { className: "marker", "aria-hidden": "true" }, `${properties.name} [${properties.citation}]`);
    label.dataset.n = properties.citation;
    return new maplibre.Marker({ element: label, ...(geometry.type.endsWith("Point") ? ABOVE : {}) }).setLngLat([(west + (east < west ? east + 360 : east)) / 2, (south + north) / 2]).addTo(this.#map);
  }

  #prepare() {
    this.#map.addSource("cited", { type: "geojson", data: collection([]) });
    this.#map.addLayer({ id: "cited-fill", type: "fill", source: "cited", filter: IS("Polygon"), paint: { "fill-opacity": ROLES } });
    this.#map.addLayer({ id: "cited-line", type: "line", source: "cited", filter: ["!", IS("Point")], paint: { "line-width": 1.5 } });
    this.#map.addLayer({ id: "cited-point", type: "circle", source: "cited", filter: IS("Point"), paint: { "circle-radius": INPUT(4, 6), "circle-opacity": INPUT(0, 1), "circle-stroke-width": 1.5 } });
    this.#map.addLayer({ id: "lit", type: "line", source: "cited", filter: ["==", ["get", "citation"], -1], paint: { "line-width": 3.5 } });
    for (const id of ["cited-fill", "cited-point", "cited-line"]) {
      this.#map.on("click", id, event => {
        const { citation, place_id: place } = event.features[0].properties;
        this.dispatchEvent(Object.assign(new Event("pick"), { citation, place }));
      });
      this.#map.on("mouseenter", id, () => { this.#map.getCanvas().style.cursor = "pointer"; });
      this.#map.on("mouseleave", id, () => { this.#map.getCanvas().style.cursor = ""; });
    }
    this.#map.getCanvas().setAttribute("aria-label", words.ask.map);
    this.#dark.addEventListener("change", () => this.#paint());
    this.#paint();
  }

  // A layer that a page of features holds is read as such, a larger one as tiles.
  async #addLayer(layer) {
    const id = `base-${layer.id}`, below = "cited-fill", large = layer.count > PAGE;
    const source = large ? { source: id, "source-layer": layer.id } : { source: id };
    this.#map.addSource(id, large ? await this.#tilesOf(layer) : { type: "geojson", data: collection([]) });
    if (layer.geometry_types.some(type => type.includes("Polygon"))) {
      this.#map.addLayer({ id: `${id}-fill`, type: "fill", ...source, filter: IS("Polygon") }, below);
    }
    if (layer.geometry_types.some(type => !type.includes("Point"))) {
      this.#map.addLayer({ id: `${id}-line`, type: "line", ...source, filter: ["!", IS("Point")], paint: { "line-width": 0.7 } }, below);
    }
    if (layer.geometry_types.some(type => type.includes("Point"))) {
      this.#map.addLayer({ id: `${id}-point`, type: "circle", ...source, filter: IS("Point"), paint: { "circle-radius": large ? 1.6 : 3 } }, below);
    }
    this.#paint();
    if (!large) await this.#fill(layer.id, null);
  }

  async #tilesOf(layer) {
    const { tiles, bounds, minzoom, maxzoom } = await get(layer.links.find(link => link.rel === "tiles").href);
    return { type: "vector", tiles: tiles.map(path => location.origin + path), bounds, minzoom, maxzoom };
  }

  async #fill(layer, bbox) {
    const zoom = Math.max(0, Math.min(24, Math.ceil(this.#map.getZoom())));
    const found = await get(query(`/api/v1/layers/${encodeURIComponent(layer)}/features`, { bbox, zoom, limit: PAGE }));
    this.#map.getSource(`base-${layer}`).setData(found);
    this.#read.set(layer, { zoom, whole: !found.links.some(link => link.rel === "next") });
  }

  // A layer is read again for the part that is shown where a page does not hold it whole, or it was simplified too much.
  async #refill() {
    const close = this.#map.getZoom();
    const again = [...this.#read].filter(([, read]) => !read.whole || close > read.zoom + CLOSER);
    await Promise.all(again.map(([layer]) => this.#fill(layer, this.box.join(",")).catch(() => null)));
  }

  #paint() {
    const colours = this.#dark.matches ? DARK : LIGHT;
    const paint = (id, property, value) => this.#map.getLayer(id) && this.#map.setPaintProperty(id, property, value);
    paint("ground", "background-color", colours.ground);
    for (const { id } of this.#map.getStyle().layers.filter(each => each.id.startsWith("base-"))) {
      if (id.endsWith("-fill")) paint(id, "fill-color", colours.fill);
      if (id.endsWith("-line")) paint(id, "line-color", colours.line);
      if (id.endsWith("-point")) paint(id, "circle-color", colours.point);
    }
    paint("cited-fill", "fill-color", colours.cited);
    paint("cited-line", "line-color", colours.cited);
    paint("cited-point", "circle-color", colours.cited);
    paint("cited-point", "circle-stroke-color", INPUT(colours.cited, colours.ground));
    paint("lit", "line-color", colours.lit);
  }
}

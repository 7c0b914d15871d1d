// Swagger UI over this server's own description, without what its headings, nested links and tables that are said to be
// regions cost a screen reader.
const tables = each => each?.querySelectorAll("table[role=region]").forEach(table => table.removeAttribute("role"));
const headings = system => ({
  wrapComponents: {
    operations: Original => props => system.React.createElement(
      "section", { "aria-labelledby": "operations" },
      system.React.createElement("h2", { id: "operations" }, document.getElementById("ui").dataset.operations),
      system.React.createElement(Original, props),
    ),
    responses: Original => props => system.React.createElement(
      "div", { ref: tables }, system.React.createElement(Original, props),
    ),
  },
});

SwaggerUIBundle({
  url: "/openapi.json", dom_id: "#ui", deepLinking: false, validatorUrl: null, syntaxHighlight: { activated: false },
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIBundle.SwaggerUIStandalonePreset], plugins: [headings],
});

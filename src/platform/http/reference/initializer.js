/* global SwaggerUIBundle */
SwaggerUIBundle({
  url: '/api/v1/openapi.json',
  dom_id: '#swagger-ui',
  presets: [SwaggerUIBundle.presets.apis],
  // This layout has no top bar, which would offer to load the description of any other API.
  layout: 'BaseLayout',
  deepLinking: true,
  tryItOutEnabled: true,
  // The default sends the description to an external validator.
  validatorUrl: null,
})

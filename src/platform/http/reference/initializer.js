/* global SwaggerUIBundle */
SwaggerUIBundle({
  url: '/api/v1/openapi.json',
  dom_id: '#swagger-ui',
  presets: [SwaggerUIBundle.presets.apis],
  // Without the top bar, which offers to load the description of any other API.
  layout: 'BaseLayout',
  deepLinking: true,
  tryItOutEnabled: true,
  // By default, an outside service is asked whether the description is valid.
  validatorUrl: null,
})

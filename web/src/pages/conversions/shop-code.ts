/** In the order in which they are offered. */
export const SHOP_LANGUAGES = ['JavaScript', 'PHP', 'Python', 'curl'] as const
export type ShopLanguage = (typeof SHOP_LANGUAGES)[number]

type ShopWords = {
  /** Above the lines of each of the two steps. */
  readonly arrival: string
  readonly payment: string
}

type Shop = {
  /** Of this service: `https://terse.example.com`. */
  readonly origin: string
  /** The parameter of destinations that has the token. */
  readonly parameter: string
}

/** The ten lines of a shop: they keep the token of a visitor, and report the order. */
export function shopCode(
  language: ShopLanguage,
  { origin, parameter }: Shop,
  { arrival, payment }: ShopWords,
): string {
  const url = `${origin}/api/v1/conversions`
  switch (language) {
    case 'JavaScript':
      return `// ${arrival}
if (request.query['${parameter}']) session.visit = request.query['${parameter}']

// ${payment}
if (session.visit) await fetch('${url}', {
  method: 'POST',
  headers: { authorization: \`Bearer \${API_TOKEN}\`, 'content-type': 'application/json' },
  body: JSON.stringify({
    token: session.visit, event: 'order', value: 7490, currency: 'EUR',
    idempotency_key: order.id,
  }),
})`
    case 'PHP':
      return `// ${arrival}
if (isset($_GET['${parameter}'])) $_SESSION['visit'] = $_GET['${parameter}'];

// ${payment}
if (isset($_SESSION['visit'])) file_get_contents(
  '${url}', false, stream_context_create(['http' => [
  'method' => 'POST',
  'header' => "Authorization: Bearer $apiToken\\r\\nContent-Type: application/json",
  'content' => json_encode([
    'token' => $_SESSION['visit'], 'event' => 'order', 'value' => 7490,
    'currency' => 'EUR', 'idempotency_key' => $orderId,
  ]),
]]));`
    case 'Python':
      return `# ${arrival}
if '${parameter}' in request.args: session['visit'] = request.args['${parameter}']

# ${payment}
if 'visit' in session:
  requests.post('${url}',
    headers={'Authorization': f'Bearer {api_token}'},
    json={'token': session['visit'], 'event': 'order', 'value': 7490,
          'currency': 'EUR', 'idempotency_key': order_id})`
    case 'curl':
      return `# ${payment}
curl ${url} \\
  -H "Authorization: Bearer $API_TOKEN" -H "Content-Type: application/json" \\
  -d '{"token": "'$VISIT'", "event": "order", "value": 7490,
       "currency": "EUR", "idempotency_key": "order-1042"}'`
  }
}

import { createServer } from 'node:http'

const port = Number(process.argv[2])

/** Node's own server with default settings, which gives every request the same answer. */
createServer((_request, response) => {
  response.writeHead(302, { Location: 'https://example.com/', 'Content-Length': '0' })
  response.end()
}).listen(port, '127.0.0.1', () => process.stdout.write('ready\n'))

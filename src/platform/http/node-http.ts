/**
 * Node's HTTP module. An `import` reads every export, which loads Node's WebSocket client too and takes a
 * tenth of the start-up time.
 */
export const http = process.getBuiltinModule('node:http')

/**
 * Node's HTTP module. To `import` it loads its WebSocket client as well, because every export is then
 * asked for, which is a tenth of what a start takes.
 */
export const http = process.getBuiltinModule('node:http')

/** The browser extension as an OAuth client. It is no site, so it has no document: the service knows its id. */
export const EXTENSION_ID = 'browser-extension'

/** The page of the service to which answers to it go. The extension reads its address in the browser. */
export const EXTENSION_PAGE = '/app/extension'

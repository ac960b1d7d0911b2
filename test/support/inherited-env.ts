/** What a process that a test starts has of the run's environment; nothing of it is a setting. */
export const INHERITED_ENV = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
}

/**
 * The part of the run's environment that processes started by tests inherit. It contains no
 * setting.
 */
export const INHERITED_ENV = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
}

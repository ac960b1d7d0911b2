/** Makes a value when it is first needed: a format takes the browser a millisecond, and a page uses a few of them. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

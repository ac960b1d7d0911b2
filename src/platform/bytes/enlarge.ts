type TypedArray = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array

/** Returns a longer copy of an array of numbers. */
export function enlarge<T extends TypedArray>(array: T, length: number): T {
  const larger = new (array.constructor as new (length: number) => T)(length)
  larger.set(array)
  return larger
}

/**
 * Like `Promise.all`, but waits for every promise to settle even when one rejects. Rejects with the reason
 * of the first rejected promise in array order.
 */
export async function waitForAll<const P extends readonly unknown[]>(
  promises: P,
): Promise<{ -readonly [I in keyof P]: Awaited<P[I]> }> {
  try {
    return await Promise.all(promises)
  } catch {
    const outcomes = await Promise.allSettled(promises)
    const rejected = outcomes.find((outcome) => outcome.status === 'rejected')
    throw rejected?.reason
  }
}

/**
 * Like `Promise.all`, but waits for every promise to settle even when one rejects. Rejects with the reason
 * of the first rejected promise in array order.
 */
export async function waitForAll<const P extends readonly unknown[]>(
  promises: P,
): Promise<{ -readonly [I in keyof P]: Awaited<P[I]> }> {
  const outcomes = await Promise.allSettled(promises)
  const values = outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
  return values as { -readonly [I in keyof P]: Awaited<P[I]> }
}

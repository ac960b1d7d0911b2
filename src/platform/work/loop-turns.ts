const waiting: (() => void)[] = []

/**
 * Settles in a later iteration of the event loop, and for one caller in each iteration: however many
 * split their work into pieces with it, visitors wait for one piece at most.
 */
export function nextLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(grantOne)
  })
}

function grantOne(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(grantOne)
}

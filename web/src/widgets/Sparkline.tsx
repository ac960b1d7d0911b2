const HEIGHT = 22
const BAR = 5
const STEP = 6

type SparklineProps = {
  /** The value of each bar, the newest last. */
  readonly values: readonly number[]
  /** The sum in words. */
  readonly label: string
}

/** Bars on their own scale; nothing is 1 px high, and the newest has the accent. */
export function Sparkline({ values, label }: SparklineProps) {
  const most = Math.max(...values, 1)
  const bars = values.map((value, nth) => bar(nth * STEP, heightOf(value, most)))
  // Two elements, and not one for each bar: a list has hundreds of them.
  return (
    <svg
      className="spark"
      viewBox={`0 0 ${values.length * STEP - (STEP - BAR)} ${HEIGHT}`}
      role="img"
      aria-label={label}
    >
      <path d={bars.slice(0, -1).join('')} />
      <path className="now" d={bars.at(-1)} />
    </svg>
  )
}

function heightOf(value: number, most: number): number {
  return value === 0 ? 1 : Math.max(2, Math.round((value / most) * HEIGHT))
}

/** A bar on the ground with round corners. */
function bar(x: number, height: number): string {
  const r = Math.min(1, height / 2)
  const [across, up] = [BAR - 2 * r, height - 2 * r]
  const corner = (dx: number, dy: number) => `a${r} ${r} 0 0 1 ${dx} ${dy}`
  return (
    `M${x + r} ${HEIGHT - height}h${across}${corner(r, r)}v${up}${corner(-r, r)}` +
    `h${-across}${corner(-r, -r)}v${-up}${corner(r, -r)}z`
  )
}

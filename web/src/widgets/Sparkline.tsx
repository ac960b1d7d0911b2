const HEIGHT = 22
const BAR = 5
const STEP = 6

type SparklineProps = {
  /** One for each bar, the newest last. */
  readonly values: readonly number[]
  /** The sum in words. */
  readonly label: string
}

/** Bars on their own scale; nothing is 1 px high, and the newest has the accent. */
export function Sparkline({ values, label }: SparklineProps) {
  const most = Math.max(...values, 1)
  return (
    <svg
      className="spark"
      viewBox={`0 0 ${values.length * STEP - (STEP - BAR)} ${HEIGHT}`}
      role="img"
      aria-label={label}
    >
      {values.map((value, nth) => {
        const height = value === 0 ? 1 : Math.max(2, Math.round((value / most) * HEIGHT))
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a bar is known by its place
            key={nth}
            className={nth === values.length - 1 ? 'now' : undefined}
            x={nth * STEP}
            y={HEIGHT - height}
            width={BAR}
            height={height}
            rx={Math.min(1, height / 2)}
          />
        )
      })}
    </svg>
  )
}

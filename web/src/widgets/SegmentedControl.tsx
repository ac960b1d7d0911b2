import type { ReactNode } from 'react'

type SegmentedControlProps<T extends string> = {
  readonly label: string
  readonly value: T
  readonly choices: readonly (readonly [value: T, name: string, icon?: ReactNode])[]
  readonly onChange: (value: T) => void
}

/** A few choices beside each other, one of which is pressed; with an icon, its name is only heard. */
export function SegmentedControl<T extends string>(props: SegmentedControlProps<T>) {
  const { label, value, choices, onChange } = props
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has a frame and a legend
    <div className="seg" role="group" aria-label={label}>
      {choices.map(([one, name, icon]) => (
        <button
          key={one}
          type="button"
          aria-label={icon === undefined ? undefined : name}
          aria-pressed={one === value}
          onClick={() => onChange(one)}
        >
          {icon ?? name}
        </button>
      ))}
    </div>
  )
}

import { createElement } from 'react'

export type IconNode = readonly (readonly [string, Readonly<Record<string, string>>])[]

type IconProps = {
  readonly of: IconNode
  /** 16 px, or 14 for `small`. */
  readonly small?: boolean
  /** For an icon that says something the text beside it does not. */
  readonly label?: string
}

export function Icon({ of, small = false, label }: IconProps) {
  const meaning =
    label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label }
  return (
    // biome-ignore lint/a11y/noSvgWithoutTitle: an icon has its name in aria-label, or is hidden
    <svg className={small ? 'i s' : 'i'} viewBox="0 0 24 24" {...meaning}>
      {of.map(([element, attributes], nth) =>
        // The parts of an icon never change their order.
        createElement(element, { ...attributes, key: nth }),
      )}
    </svg>
  )
}

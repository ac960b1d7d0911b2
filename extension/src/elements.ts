import type { IconNode } from 'lucide'

type Child = Node | string | false | undefined

type Attributes = Readonly<Record<string, string | boolean | undefined>>

/** Makes an element. Attributes that are false or undefined are left out; texts are never read as HTML. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue
    element.setAttribute(key, value === true ? '' : value)
  }
  element.append(...children.filter((child) => child !== undefined && child !== false))
  return element
}

const SVG = 'http://www.w3.org/2000/svg'

/** An icon beside a text, or within a button that has a name. */
export function icon(node: IconNode): SVGElement {
  const svg = document.createElementNS(SVG, 'svg')
  svg.setAttribute('class', 'i')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  for (const [name, attributes] of node) {
    const part = document.createElementNS(SVG, name)
    for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, String(value))
    svg.append(part)
  }
  return svg
}

type ButtonOptions = {
  readonly look?: 'ink' | 'plain' | 'icon' | 'row'
  readonly of?: IconNode
  /** The key that does the same. */
  readonly key?: string
  /** Of a button that shows an icon alone. */
  readonly name?: string
  readonly onClick: () => void
}

const CLASSES = { ink: 'btn btn-ink', plain: 'btn', icon: 'ib', row: 'row' } as const

export function button(
  label: string,
  { look = 'plain', of, key, name, onClick }: ButtonOptions,
): HTMLButtonElement {
  const element = make(
    'button',
    { type: 'button', class: CLASSES[look], 'aria-label': name, title: name },
    of && icon(of),
    label !== '' && make('span', {}, label),
    key !== undefined && make('kbd', { 'aria-hidden': 'true' }, key),
  )
  element.addEventListener('click', onClick)
  return element
}

/** A sentence that a screen reader reads when it appears; `bad` for a fault. */
export function note(sentence: string, kind: 'bad' | 'good' | 'hint'): HTMLElement {
  const role = kind === 'bad' ? 'alert' : 'status'
  return make('p', { class: { bad: 'err', good: 'good', hint: 'hint' }[kind], role }, sentence)
}

/** A labelled field, with room for what is wrong with it. */
export function field(
  label: string,
  control: HTMLElement,
  frame: HTMLElement = control,
): { readonly element: HTMLElement; say(sentence: string, kind: 'bad' | 'good'): void } {
  const said = make('div', { id: `${control.id}-note`, class: 'said' })
  control.setAttribute('aria-describedby', said.id)
  const element = make(
    'div',
    { class: 'field' },
    make('label', { for: control.id }, label),
    frame,
    said,
  )
  return {
    element,
    say(sentence, kind) {
      control.setAttribute('aria-invalid', String(kind === 'bad' && sentence !== ''))
      frame.classList.toggle('bad', kind === 'bad' && sentence !== '')
      said.replaceChildren(...(sentence === '' ? [] : [note(sentence, kind)]))
    },
  }
}

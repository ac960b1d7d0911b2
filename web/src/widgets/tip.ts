/**
 * The attributes of an element that shows a text on hover and focus, which `Tips` does. The text repeats the
 * accessible name, or adds to what is visible.
 */
export function tip(text: string, shortcut?: string) {
  return { 'data-tip': text, ...(shortcut !== undefined && { 'data-tip-key': shortcut }) }
}

/** What `showTip` sends to `watchTips`. */
export class TipRequest extends Event {
  static readonly type = 'tip-request'
  readonly timeMs: number

  constructor(timeMs: number) {
    super(TipRequest.type, { bubbles: true })
    this.timeMs = timeMs
  }
}

/** Shows the tip of an element for this long, on touch too. */
export function showTip(host: HTMLElement, timeMs: number): void {
  host.dispatchEvent(new TipRequest(timeMs))
}

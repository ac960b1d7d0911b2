/** The title and the text of a page. */
type Notice = { readonly title: string; readonly text: string }

/** Everything that the pages for visitors say, in one language. Plain text, which is escaped when a page is rendered. */
export type PageTexts = {
  /** BCP 47, for `lang` and `Content-Language`. */
  readonly tag: string
  /** BCP 47, for dates and durations. */
  readonly locale: string
  readonly notFound: Notice
  readonly unknownHost: Notice
  readonly expired: {
    readonly title: string
    /** @param date a day in UTC, as `31 August 2026` */
    readonly text: (date: string) => string
  }
  readonly password: Notice & {
    readonly label: string
    readonly submit: string
    readonly wrong: string
  }
  readonly tooManyAttempts: WaitNotice
  readonly busy: WaitNotice
  readonly unavailable: Notice
  readonly elsewhere: Notice
  readonly invalidRequest: Notice
  readonly tryAgain: string
}

type WaitNotice = {
  readonly title: string
  /** @param when as `in 42 seconds` */
  readonly text: (when: string) => string
}

/** The title and the text of a page. */
type Notice = { readonly title: string; readonly text: string }

// biome-ignore format: one line for a quarter of a year
type Months = readonly [
  string, string, string,
  string, string, string,
  string, string, string,
  string, string, string,
]

/** Everything that the pages for visitors say, in one language. Plain text, which is escaped when a page is rendered. */
export type PageTexts = {
  /** BCP 47, for `lang` and `Content-Language`. */
  readonly tag: string
  /** In the form that stands in a date. */
  readonly months: Months
  readonly day: (day: number, month: string, year: number) => string
  /** As `in 42 seconds`. */
  readonly wait: (seconds: number) => string
  readonly notFound: Notice
  readonly unknownHost: Notice
  readonly expired: {
    readonly title: string
    /** @param date a day in UTC, as returned by `day` */
    readonly text: (date: string) => string
  }
  readonly upcoming: {
    readonly title: string
    /** @param date a day in UTC, as returned by `day` */
    readonly text: (date: string) => string
  }
  readonly usedUp: Notice
  /** For programs, and for visitors who were taken for one: they may continue. */
  readonly preview: Notice
  readonly loop: Notice
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
  /** @param when as returned by `wait` */
  readonly text: (when: string) => string
}

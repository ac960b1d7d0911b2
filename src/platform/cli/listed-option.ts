import { Option } from 'commander'

/** What a service lists, so that shells complete it. */
export type ListName = 'domains' | 'tags'

/** An option whose values the service lists. */
export class ListedOption extends Option {
  readonly list: ListName

  constructor(flags: string, description: string, list: ListName) {
    super(flags, description)
    this.list = list
  }
}

import { amountsIn } from '../plural.ts'

const { count, n } = amountsIn('en')

const linkCount = count('link', 'links')
const clickCount = count('click', 'clicks')

/** Words of the pages of tags and UTM templates. */
export const tags = {
  title: 'Tags',
  view: 'View',
  search: 'Search tags',
  name: 'Name',
  links: 'Links',
  caption: 'Tags',
  select: (tag: string) => `Select ${tag}`,
  actionsFor: (tag: string) => `Actions for ${tag}`,
  showLinks: 'Show links',
  showClicks: 'Show analytics',
  clicks: clickCount,
  clicksOfMonth: (count: number) => `${clickCount(count)} in the last 30 days`,
  clicksUnknown:
    'Clicks by tag are counted from single clicks: there are too many in the last 30 days, or they are not kept as long.',
  rename: 'Rename',
  renameTitle: (tag: string) => `Rename ${tag}`,
  merge: 'Merge',
  mergeTitle: (count: number) => `Merge ${n(count)} tags`,
  newName: 'New name',
  mergeName: 'Name of the merged tag',
  willMerge: (name: string) => `${name} exists: the links of both carry it afterwards.`,
  selectedTags: 'Selected tags',
  selected: (count: number) => `${n(count)} selected`,
  selectAtMost: (count: number) => `Select at most ${n(count)} tags at once.`,
  deleteTitle: (tag: string) => `Delete ${tag}?`,
  deleteManyTitle: (count: number) => `Delete ${n(count)} tags?`,
  deleteText: (count: number) => `${linkCount(count)} lose the tag. The links stay.`,
  deleteTextMany: 'Links lose these tags. The links stay.',
  changed: (count: number) => `${linkCount(count)} changed`,
  emptyTitle: 'No tags yet',
  emptyHint: 'Tags appear here when links carry them.',
  noMatch: (text: string) => `No tag contains “${text}”.`,
}

export const utmTemplates = {
  title: 'UTM templates',
  new: 'New template',
  newTitle: 'New UTM template',
  editTitle: 'Edit UTM template',
  name: 'Template name',
  actionsFor: (name: string) => `Actions for ${name}`,
  saved: (name: string) => `${name} is saved`,
  deleted: (name: string) => `Deleted ${name}`,
  deleteFailed: (name: string) => `${name} was not deleted.`,
  emptyTitle: 'No UTM templates yet',
  emptyHint: 'A template fills the UTM parameters of a new link: a source, a medium, a campaign.',
  choose: 'Template',
  choice: 'Choose a template',
  saveAs: 'Save as template',
}

import type * as en from '../en/tags.ts'
import { amountsIn, plural } from '../plural.ts'

const { count, n } = amountsIn('de')

const linkCount = count('Link', 'Links')
const clickCount = count('Klick', 'Klicks')

/** Worte der Seiten der Tags und der UTM-Vorlagen. */
export const tags: typeof en.tags = {
  title: 'Tags',
  view: 'Ansicht',
  search: 'Tags suchen',
  name: 'Name',
  links: 'Links',
  caption: 'Tags',
  select: (tag) => `${tag} auswählen`,
  actionsFor: (tag) => `Aktionen für ${tag}`,
  showLinks: 'Links zeigen',
  showClicks: 'Statistik zeigen',
  clicks: clickCount,
  clicksOfMonth: (count) => `${clickCount(count)} in den letzten 30 Tagen`,
  clicksUnknown:
    'Klicks je Tag werden aus einzelnen Klicks gezählt: Von den letzten 30 Tagen sind es zu viele, oder sie werden nicht so lange aufbewahrt.',
  rename: 'Umbenennen',
  renameTitle: (tag) => `${tag} umbenennen`,
  merge: 'Zusammenführen',
  mergeTitle: (count) => `${n(count)} Tags zusammenführen`,
  newName: 'Neuer Name',
  mergeName: 'Name des gemeinsamen Tags',
  willMerge: (name) => `${name} gibt es schon: Die Links beider tragen ihn danach.`,
  selectedTags: 'Ausgewählte Tags',
  selected: (count) => `${n(count)} ausgewählt`,
  selectAtMost: (count) => `Wählen Sie höchstens ${n(count)} Tags auf einmal aus.`,
  deleteTitle: (tag) => `${tag} löschen?`,
  deleteManyTitle: (count) => `${n(count)} Tags löschen?`,
  deleteText: (count) =>
    `${linkCount(count)} ${plural('de', count, { one: 'verliert', other: 'verlieren' })} den Tag. Die Links bleiben.`,
  deleteTextMany: 'Links verlieren diese Tags. Die Links bleiben.',
  changed: (count) => `${linkCount(count)} geändert`,
  emptyTitle: 'Noch keine Tags',
  emptyHint: 'Tags erscheinen hier, wenn Links sie tragen.',
  noMatch: (text) => `Kein Tag enthält „${text}“.`,
}

export const utmTemplates: typeof en.utmTemplates = {
  title: 'UTM-Vorlagen',
  new: 'Neue Vorlage',
  newTitle: 'Neue UTM-Vorlage',
  editTitle: 'UTM-Vorlage bearbeiten',
  name: 'Name der Vorlage',
  actionsFor: (name) => `Aktionen für ${name}`,
  saved: (name) => `${name} ist gespeichert`,
  deleted: (name) => `${name} gelöscht`,
  deleteFailed: (name) => `${name} wurde nicht gelöscht.`,
  emptyTitle: 'Noch keine UTM-Vorlagen',
  emptyHint: 'Eine Vorlage füllt die UTM-Parameter eines neuen Links: Quelle, Medium, Kampagne.',
  choose: 'Vorlage',
  choice: 'Vorlage wählen',
  saveAs: 'Als Vorlage speichern',
}

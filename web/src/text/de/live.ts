import type { live as englishLive } from '../en/live.ts'
import { plural } from '../plural.ts'

const n = (count: number) => count.toLocaleString('de')

/** Worte der Live-Ansicht der Statistik. */
export const live: typeof englishLive = {
  title: 'Letzte 30 Minuten',
  minute: 'Minute',
  showTable: 'Minuten als Tabelle zeigen',
  showChart: 'Minuten als Diagramm zeigen',
  reconnecting: 'Verbindet sich wieder …',
  refused: 'Nicht verfügbar',
  chart: (amount, most) =>
    `${n(amount)} ${plural('de', amount, { one: 'Klick', other: 'Klicks' })} in den letzten 30 Minuten, höchstens ${n(most)} je Minute`,
  newest: 'Neueste Klicks',
  empty: 'Keine Klicks in den letzten 30 Minuten',
  emptyHint: 'Ein neuer erscheint hier nach wenigen Sekunden.',
}

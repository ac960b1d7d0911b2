import type * as en from '../en/managed.ts'

const UNDOES = 'Das nächste „terse apply“ macht rückgängig, was hier geändert wird.'

export const managed: typeof en.managed = {
  set: 'Satz',
  by: (set) => `Vom Satz ${set} verwaltet`,
  applied: (set, date) => `Vom Satz ${set} verwaltet, zuletzt angewendet am ${date}.`,
  showLinks: 'Seine Links zeigen',
  edited: 'Bearbeitet, seit der Satz zuletzt angewendet wurde.',
  notes: {
    link: (set) => `Dieser Link wird vom Satz ${set} verwaltet. ${UNDOES}`,
    domain: (set) => `Diese Domain wird vom Satz ${set} verwaltet. ${UNDOES}`,
    ruleSet: (set) => `Diese Regelsammlung wird vom Satz ${set} verwaltet. ${UNDOES}`,
    template: (set) => `Diese Vorlage wird vom Satz ${set} verwaltet. ${UNDOES}`,
  },
  release: 'Freigeben',
  releaseTitle: (set) => `Aus dem Satz ${set} freigeben?`,
  releaseText:
    'Änderungen bleiben dann, und nichts macht sie rückgängig. Nehmen Sie den Eintrag auch aus der Datei: Solange er dort steht, bricht das nächste „terse apply“ ab oder übernimmt ihn wieder.',
  released: (set) => `Aus dem Satz ${set} freigegeben`,
  deletion: 'Löschen',
  deletions: { allowed: 'Erlaubt', refused: 'Nicht erlaubt' },
  preventDelete: 'Diesen Link nicht löschen lassen',
  preventDeleteHint: 'Das gilt für alle Personen, Tokens und Befehle, bis es ausgeschaltet ist.',
  notDeleted: (link) => `${link} darf nicht gelöscht werden. Erlauben Sie es zuerst im Formular.`,
}

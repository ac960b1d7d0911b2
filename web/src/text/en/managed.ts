const UNDOES = 'The next “terse apply” undoes what is changed here.'

/** Words about what a set of links as code manages, and about links that must not be deleted. */
export const managed = {
  set: 'Set',
  by: (set: string) => `Managed by the set ${set}`,
  applied: (set: string, date: string) => `Managed by the set ${set}, last applied on ${date}.`,
  showLinks: 'Show its links',
  edited: 'Edited since it was last applied.',
  notes: {
    link: (set: string) => `This link is managed by the set ${set}. ${UNDOES}`,
    domain: (set: string) => `This domain is managed by the set ${set}. ${UNDOES}`,
    ruleSet: (set: string) => `This rule set is managed by the set ${set}. ${UNDOES}`,
    template: (set: string) => `This template is managed by the set ${set}. ${UNDOES}`,
  },
  release: 'Release',
  releaseTitle: (set: string) => `Release it from the set ${set}?`,
  releaseText:
    'Edits then stay, and nothing undoes them. Take it out of the file, too: while the file has it, the next “terse apply” stops, or takes it back.',
  released: (set: string) => `Released from the set ${set}`,
  deletion: 'Deletion',
  deletions: { allowed: 'Allowed', refused: 'Not allowed' },
  preventDelete: 'Refuse to delete this link',
  preventDeleteHint: 'Every person, token and command is refused until this is off.',
  notDeleted: (link: string) => `${link} must not be deleted. Allow that in its form first.`,
}

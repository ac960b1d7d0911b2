/** Examples of what a link has beside its fields, by the names of their schemas. */
export const SMART_LINK_EXAMPLES: Readonly<Record<string, unknown>> = {
  LinkOptions: {
    max_clicks: 500,
    active_from: '2026-12-01T08:00:00.000000Z',
    archived: false,
    notes: 'On the flyer of May',
    query: 'merge',
  },
  LinkRules: {
    rules: [
      {
        id: 'b7d41f09ce',
        name: 'Phones in Germany and Austria',
        when: { country: ['DE', 'AT'], device: ['phone'] },
        then: { url: 'https://example.com/de/app' },
      },
    ],
  },
}

const RULE_SET = '01a1f890-2f3e-7d4c-9b5a-6978f8e7d6c5'

const RULE = {
  id: 'b7d41f09ce',
  name: 'Phones in Germany and Austria',
  when: { country: ['DE', 'AT'], device: ['phone'] },
  then: { url: 'https://example.com/de/app' },
}

/** Examples of what a link has beside its fields, by the names of their schemas. */
export const SMART_LINK_EXAMPLES: Readonly<Record<string, unknown>> = {
  LinkOptions: {
    max_clicks: 500,
    active_from: '2026-12-01T08:00:00.000000Z',
    archived: false,
    notes: 'On the flyer of May',
    query: 'merge',
    rule_set: RULE_SET,
  },
  LinkRules: { rules: [RULE] },
  RuleSet: {
    id: RULE_SET,
    workspace_id: '01a1f86c-3f0a-7c21-9b1e-5d0c8a4f7e11',
    name: 'Shops by country',
    rules: [{ ...RULE, id: 'set-8f2ac01d94b7e6530a1c' }],
    created_at: '2026-11-20T10:06:50.363298Z',
    updated_at: '2026-11-21T08:15:02.190512Z',
  },
}

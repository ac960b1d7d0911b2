type WithSchemas = { components?: { schemas?: Record<string, unknown> } }

/**
 * Returns the description without the schemas that nothing in it points to: each schema of the contract
 * is rendered both as input and as output, and most are used in one way only. Schemas are sorted by name;
 * otherwise their order would follow that in which files are imported.
 */
export function withoutUnusedSchemas<D extends object>(document: D): D {
  const { components } = document as WithSchemas
  const schemas = components?.schemas ?? {}
  const used = new Set<string>()
  const follow = (value: unknown) => {
    for (const name of referencesIn(value)) {
      if (used.has(name)) continue
      used.add(name)
      follow(schemas[name])
    }
  }
  follow({ ...document, components: undefined })
  const kept = Object.entries(schemas)
    .filter(([name]) => used.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))

  return { ...document, components: { ...components, schemas: Object.fromEntries(kept) } }
}

function referencesIn(value: unknown): string[] {
  const text = JSON.stringify(value) ?? ''
  return [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1] ?? '')
}

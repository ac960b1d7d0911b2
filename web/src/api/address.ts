export type Query = Readonly<
  Record<string, string | number | boolean | undefined | readonly string[]>
>

/** A read of the API: what is read, below `/api/v1`. */
export type Read = { readonly path: string; readonly query?: Query }

export function addressOf({ path, query = {} }: Read): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one))
  }
  const text = parameters.toString()
  return `/api/v1${path}${text === '' ? '' : `?${text}`}`
}

export type Draft = Readonly<Record<string, unknown>>

const ITEM = 'terse-drafts'

/** What was typed into forms and not saved, by owner and place. For this tab alone. */
const drafts = read()

/** The owner of the draft: no other person sees or sends it. */
export type DraftOwner = { readonly personId: string; readonly workspaceId: string }

export function draftKey({ personId, workspaceId }: DraftOwner, place: string): string {
  return `${personId} ${workspaceId} ${place}`
}

export function draftAt(key: string): Draft | undefined {
  return drafts.get(key)
}

export function keepDraft(key: string, draft: Draft): void {
  drafts.set(key, draft)
  write()
}

export function forgetDraft(key: string): void {
  if (drafts.delete(key)) write()
}

/** To be called when a session ends, and when another person begins one. */
export function forgetDraftsOfOthers(personId: string | undefined): void {
  for (const key of drafts.keys()) {
    if (personId === undefined || !key.startsWith(`${personId} `)) forgetDraft(key)
  }
}

function read(): Map<string, Draft> {
  try {
    return new Map(JSON.parse(sessionStorage.getItem(ITEM) ?? '[]'))
  } catch {
    return new Map()
  }
}

/** Browsers write this storage to the disk: a password lasts only as long as the page. */
function write(): void {
  const text = JSON.stringify([...drafts], (name, value) =>
    name === 'password' ? undefined : value,
  )
  try {
    sessionStorage.setItem(ITEM, text)
  } catch {
    // Storage is full or off: drafts last as long as the page.
  }
}

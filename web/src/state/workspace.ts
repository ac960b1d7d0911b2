import { Observable } from './observable.ts'

const NAME = 'terse-workspace'

/** The workspace of this tab. Another tab may show another one; a new tab begins with the last chosen. */
export const currentWorkspace = new Observable<string | undefined>(stored())

export function setCurrentWorkspace(id: string): void {
  currentWorkspace.set(id)
  try {
    sessionStorage.setItem(NAME, id)
    localStorage.setItem(NAME, id)
  } catch {
    // Without storage, the choice lasts as long as the page.
  }
}

function stored(): string | undefined {
  try {
    return sessionStorage.getItem(NAME) ?? localStorage.getItem(NAME) ?? undefined
  } catch {
    return undefined
  }
}

import { Observable } from './observable.ts'
import { storedWorkspace, WORKSPACE_ITEM } from './stored.ts'

/** The workspace of this tab. Another tab may show another one; a new tab begins with the last chosen. */
export const currentWorkspace = new Observable<string | undefined>(storedWorkspace())

export function setCurrentWorkspace(id: string): void {
  currentWorkspace.set(id)
  try {
    sessionStorage.setItem(WORKSPACE_ITEM, id)
    localStorage.setItem(WORKSPACE_ITEM, id)
  } catch {
    // Without storage, the choice lasts as long as the page.
  }
}

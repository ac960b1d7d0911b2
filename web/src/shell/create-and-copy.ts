import { createLink, type LinkFields, type LinkResource, visitAddress } from '../api/links.ts'
import type { Catalogue } from '../text/en.ts'
import { copyWithMessage } from '../widgets/CopyButton.tsx'
import { copyText } from '../widgets/copy-text.ts'
import { showMessage } from '../widgets/Toasts.tsx'

/**
 * Creates a link and copies its address; a message shows both, with a button that copies it again. To be called
 * within the gesture, as `copyText`.
 *
 * @param requestId makes the same request again create nothing
 */
export function createAndCopy(
  fields: LinkFields,
  requestId: string,
  t: Catalogue,
): Promise<LinkResource> {
  const creation = createLink(fields, requestId)
  const address = creation.then(visitAddress)
  copyText(address).then(
    async (isCopied) => {
      const text = await address
      const copy = () => void copyWithMessage(text, t)
      showMessage(isCopied ? t.linkForm.created : t.linkForm.createdOnly, { copy })
    },
    // The caller shows why nothing was created.
    () => {},
  )
  return creation
}

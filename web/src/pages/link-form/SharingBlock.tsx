import { lazy, Suspense } from 'react'
import { useText } from '../../text/use-text.ts'
import { Block } from './Block.tsx'
import type { FormState } from './link-draft.ts'

const SharingFields = lazy(() => import('./SharingFields.tsx'))

const FIELDS = ['title', 'description', 'image'] as const

/** What messengers and networks show of the link. */
export function SharingBlock(state: FormState) {
  const { draft, errors } = state
  const t = useText()
  const isFilled = FIELDS.some((field) => draft[field] !== '')
  const [title, description, image] = FIELDS.map((field) => draft[field].trim())
  return (
    <Block
      title={t.sharing.title}
      summary={title || description || (image ? t.sharing.imageOnly : t.sharing.ofDestination)}
      isFilled={isFilled}
      hasErrors={FIELDS.some((field) => errors[field] !== undefined)}
    >
      <Suspense fallback={<div className="share-space" aria-busy />}>
        <SharingFields {...state} />
      </Suspense>
    </Block>
  )
}

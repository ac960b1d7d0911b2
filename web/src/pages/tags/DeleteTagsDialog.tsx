import { useMutation, useQueryClient } from '@tanstack/react-query'
import { LINKS_KEY } from '../../api/links.ts'
import { deleteTags, type Tag } from '../../api/tags.ts'
import { TrashIcon } from '../../icons/index.ts'
import { useFaults } from '../../shell/use-faults.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Dialog } from '../../widgets/Dialog.tsx'
import { FormNote } from '../../widgets/FormNote.tsx'
import { showMessage } from '../../widgets/toasts.ts'

type DeleteTagsDialogProps = {
  readonly tags: readonly Tag[]
  readonly onDone: () => void
  readonly onClose: () => void
}

/** Which links carried a tag is not known afterwards, so Undo could not bring it back. */
export function DeleteTagsDialog({ tags, onDone, onClose }: DeleteTagsDialogProps) {
  const t = useText()
  const client = useQueryClient()
  const [first] = tags
  const isOne = tags.length === 1 && first !== undefined
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => deleteTags(tags.map(({ name }) => name)),
    async onSuccess(changed) {
      await client.invalidateQueries({ queryKey: LINKS_KEY })
      showMessage(t.tags.changed(changed), { icon: TrashIcon })
      onDone()
    },
  })
  const faults = useFaults(error)
  return (
    <Dialog
      isOpen
      onClose={onClose}
      onSubmit={() => {
        if (!isPending) mutate()
      }}
      title={isOne ? t.tags.deleteTitle(first.name) : t.tags.deleteManyTitle(tags.length)}
      description={isOne ? t.tags.deleteText(first.links) : t.tags.deleteTextMany}
      footer={
        <>
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button type="submit" look="danger" isBusy={isPending}>
            {t.common.delete}
          </Button>
        </>
      }
    >
      <FormNote text={faults.general} />
    </Dialog>
  )
}

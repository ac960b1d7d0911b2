import { useMutation } from '@tanstack/react-query'
import { type DragEvent, useId, useState } from 'react'
import { destinationOf } from '../../api/links.ts'
import { ownImageAddress, readPreview, uploadImage } from '../../api/previews.ts'
import { Icon } from '../../icons/Icon.tsx'
import { ImageIcon } from '../../icons/index.ts'
import { errorText } from '../../shell/use-faults.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Field, FormNote, Input, TextArea } from '../../widgets/Field.tsx'
import { SegmentedControl } from '../../widgets/SegmentedControl.tsx'
import type { FormState } from './link-draft.ts'

/** Title, description and image, by hand or from the destination, and how they are shown. */
export default function SharingFields(state: FormState) {
  const { draft, errors, change } = state
  const t = useText()
  return (
    <>
      <TakeFromDestination {...state} />
      <Field label={t.sharing.titleLabel} errors={errors['title']}>
        {(control) => (
          <Input
            {...control}
            placeholder={t.sharing.ofDestination}
            value={draft.title}
            onChange={(event) => change({ title: event.target.value })}
          />
        )}
      </Field>
      <Field label={t.sharing.description} errors={errors['description']}>
        {(control) => (
          <TextArea
            {...control}
            rows={2}
            placeholder={t.sharing.ofDestination}
            value={draft.description}
            onChange={(event) => change({ description: event.target.value })}
          />
        )}
      </Field>
      <ImageField {...state} />
      <Shown {...state} />
    </>
  )
}

function TakeFromDestination({ draft, change }: FormState) {
  const t = useText()
  const url = destinationOf(draft.url)
  const { mutate, isPending, error, isSuccess } = useMutation({
    mutationFn: readPreview,
    onSuccess({ title, description, image }) {
      change({ title: title ?? '', description: description ?? '', image: image ?? '' })
    },
  })
  return (
    <>
      <div className="share-take">
        <p className="hint">{t.sharing.hint}</p>
        <Button
          size="small"
          className="flex-none"
          disabled={url === undefined}
          isBusy={isPending}
          onClick={() => url !== undefined && mutate(url)}
        >
          {t.sharing.take}
        </Button>
      </div>
      <FormNote text={error === null ? undefined : t.sharing.notTaken(errorText(error, t))} />
      <span className="sr" role="status">
        {isSuccess && t.sharing.taken}
      </span>
    </>
  )
}

/** An address, or a file by the button or dropped anywhere on the field. */
function ImageField({ draft, errors, change }: FormState) {
  const t = useText()
  const id = useId()
  const [isOver, setOver] = useState(false)
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: uploadImage,
    onSuccess: ({ url }) => change({ image: url }),
  })
  const take = (file: File | undefined) => {
    if (file !== undefined && !isPending) mutate(file)
  }
  const faults = error === null ? errors['image'] : [errorText(error, t)]

  function drop(event: DragEvent) {
    event.preventDefault()
    setOver(false)
    take(event.dataTransfer.files[0])
  }

  return (
    // Dropping is for the mouse; the button within does the same.
    // biome-ignore lint/a11y/noStaticElementInteractions: it takes dropped files only
    <div
      className={isOver ? 'share-image over' : 'share-image'}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Field label={t.sharing.image} hint={t.sharing.imageHint} errors={faults}>
        {(control) => (
          <div className="share-file">
            <Input
              {...control}
              inputMode="url"
              spellCheck={false}
              placeholder="https://"
              value={draft.image}
              onChange={(event) => {
                reset()
                change({ image: event.target.value })
              }}
            />
            <label className="btn" htmlFor={id} aria-busy={isPending || undefined}>
              {isPending ? t.sharing.uploading : t.sharing.upload}
            </label>
            <input
              id={id}
              type="file"
              className="sr"
              accept="image/png,image/jpeg,image/webp,image/gif"
              disabled={isPending}
              onChange={({ target }) => {
                take(target.files?.[0])
                target.value = ''
              }}
            />
          </div>
        )}
      </Field>
    </div>
  )
}

type Look = 'large' | 'compact' | 'chat'

/** As the usual networks and messengers would show it. */
function Shown({ draft }: FormState) {
  const t = useText()
  const [look, setLook] = useState<Look>('large')
  const title = draft.title.trim() || t.sharing.untitled
  const description = draft.description.trim()
  const image = draft.image.trim()
  const isEmpty = draft.title.trim() === '' && description === '' && image === ''
  return (
    <figure className="grid gap-2 m-0">
      <div className="lab-row">
        <figcaption className="sec-h">{t.sharing.shown}</figcaption>
        <SegmentedControl
          label={t.sharing.looks}
          value={look}
          choices={[
            ['large', t.sharing.large],
            ['compact', t.sharing.compact],
            ['chat', t.sharing.chat],
          ]}
          onChange={setLook}
        />
      </div>
      {isEmpty ? (
        <p className="share-none">{t.sharing.nothing}</p>
      ) : (
        <div className={`share-ground ${look}`}>
          <div className={`share-card ${look}`}>
            {image !== '' && <Picture key={image} image={image} />}
            <div className="share-text">
              <span className="share-host">{draft.domain}</span>
              <strong>{title}</strong>
              {description !== '' && <span className="share-desc">{description}</span>}
            </div>
            {look === 'chat' && (
              <span className="share-link">{`${draft.domain}/${draft.key.trim() || '…'}`}</span>
            )}
          </div>
        </div>
      )}
    </figure>
  )
}

/** The page loads no picture of another host: a place with its name stands for it. */
function Picture({ image }: { image: string }) {
  const t = useText()
  const [hasFailed, setFailed] = useState(false)
  const address = ownImageAddress(image)
  if (address !== undefined && !hasFailed) {
    return <img className="share-pic" src={address} alt="" onError={() => setFailed(true)} />
  }
  const host = URL.parse(image)?.host
  return (
    <span className="share-pic none">
      <Icon of={ImageIcon} />
      <span>{hasFailed || !host ? t.sharing.noImage : t.sharing.imageOn(host)}</span>
    </span>
  )
}

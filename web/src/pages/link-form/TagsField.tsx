import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { flushSync } from 'react-dom'
import { frequentTagsQuery } from '../../api/tags.ts'
import { Icon } from '../../icons/Icon.tsx'
import { CloseIcon } from '../../icons/index.ts'
import { useText } from '../../text/use-text.ts'
import { Field } from '../../widgets/Field.tsx'
import type { FormState } from './form-state.ts'

/** Enter or a comma ends a tag, and so does the shortcut that saves the form; Backspace takes the last one back. */
export function TagsField({ draft, errors, change }: FormState) {
  const t = useText()
  const listId = useId()
  const { data: known = [] } = useQuery(frequentTagsQuery)
  const [typed, setTyped] = useState('')
  const { tags } = draft

  function add(text: string) {
    const tag = text.trim()
    setTyped('')
    if (tag !== '' && !tags.includes(tag)) change({ tags: [...tags, tag] })
  }

  return (
    <Field label={t.linkForm.tags} errors={errors['tags']}>
      {(control) => (
        <div className="in taginput">
          {tags.map((tag) => (
            <span className="tag" key={tag}>
              <span className="cut">{tag}</span>
              <button
                type="button"
                aria-label={t.linkForm.removeTag(tag)}
                onClick={() => change({ tags: tags.filter((one) => one !== tag) })}
              >
                <Icon of={CloseIcon} />
              </button>
            </span>
          ))}
          <input
            {...control}
            list={listId}
            autoComplete="off"
            placeholder={t.linkForm.addTag}
            value={typed}
            onChange={(event) => {
              const { value } = event.target
              if (value.endsWith(',')) add(value.slice(0, -1))
              else setTyped(value)
            }}
            onBlur={() => add(typed)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && typed.trim() !== '') {
                // The shortcut that saves the form is handled after this, and must find the tag in it.
                if (event.ctrlKey || event.metaKey) flushSync(() => add(typed))
                else {
                  event.preventDefault()
                  add(typed)
                }
              } else if (event.key === 'Backspace' && typed === '') {
                change({ tags: tags.slice(0, -1) })
              }
            }}
          />
          <datalist id={listId}>
            {known
              .filter((tag) => !tags.includes(tag))
              .map((tag) => (
                <option key={tag} value={tag} />
              ))}
          </datalist>
        </div>
      )}
    </Field>
  )
}

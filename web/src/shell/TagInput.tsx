import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { flushSync } from 'react-dom'
import { frequentTagsQuery } from '../api/tags.ts'
import { Icon } from '../icons/Icon.tsx'
import { CloseIcon } from '../icons/index.ts'
import { useText } from '../text/use-text.ts'
import type { ControlProps } from '../widgets/Field.tsx'

type TagInputProps = {
  /** The attributes of the field that it is in. */
  readonly control: ControlProps
  readonly tags: readonly string[]
  readonly onChange: (tags: readonly string[]) => void
}

/**
 * Tags, completed from those of the workspace. Enter or a comma ends a tag, and so does the shortcut that saves a form;
 * Backspace takes the last one back.
 */
export function TagInput({ control, tags, onChange }: TagInputProps) {
  const t = useText()
  const listId = useId()
  const { data: known = [] } = useQuery(frequentTagsQuery)
  const [typed, setTyped] = useState('')

  /** @param rest is still being typed */
  function add(texts: readonly string[], rest = '') {
    const added = texts.map((text) => text.trim()).filter((text) => text !== '')
    setTyped(rest)
    if (added.length > 0) onChange([...new Set([...tags, ...added])])
  }

  return (
    <div className="in taginput">
      {tags.map((tag) => (
        <span className="tag" key={tag}>
          <span className="cut">{tag}</span>
          <button
            type="button"
            aria-label={t.linkForm.removeTag(tag)}
            onClick={() => onChange(tags.filter((one) => one !== tag))}
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
          const texts = event.target.value.split(',')
          add(texts.slice(0, -1), texts.at(-1))
        }}
        onBlur={() => add([typed])}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && typed.trim() !== '') {
            // The shortcut that saves the form is handled after this, and must find the tag in it.
            if (event.ctrlKey || event.metaKey) flushSync(() => add([typed]))
            else {
              event.preventDefault()
              add([typed])
            }
          } else if (event.key === 'Backspace' && typed === '') {
            onChange(tags.slice(0, -1))
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
  )
}

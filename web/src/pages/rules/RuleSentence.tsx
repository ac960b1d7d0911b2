import type { RuleInput } from '@terse/contract/rules'
import { Icon } from '../../icons/Icon.tsx'
import { ArrowRightIcon } from '../../icons/index.ts'
import { shortDestination } from '../../widgets/destination-parts.ts'
import { partsOf, splitSentence, whenSentence } from './sentence.ts'
import { useRuleLanguage } from './use-rule-language.ts'

/** A sentence whose values are bold. */
export function Sentence({ text }: { text: string }) {
  return partsOf(text).map(({ text: part, isValue }, nth) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence are drawn as one
    isValue ? <b key={nth}>{part}</b> : <span key={nth}>{part}</span>,
  )
}

/** A rule as it is read aloud: whom it is for, and where they are sent. */
export default function RuleSentence({ rule: { name, when, then } }: { rule: RuleInput }) {
  const language = useRuleLanguage()
  return (
    <>
      {name !== undefined && <span className="rule-name">{name}: </span>}
      <Sentence text={whenSentence(when, language)} />
      <span className="arr">
        <Icon of={ArrowRightIcon} small />
      </span>
      {then.split === undefined ? (
        <span className="to" title={then.url}>
          {shortDestination(then.url ?? '')}
        </span>
      ) : (
        <Sentence text={splitSentence(then.split, language)} />
      )}
    </>
  )
}

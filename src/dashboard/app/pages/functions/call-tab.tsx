/** A form that calls a function, and the answer. */
import { useSignal } from '@preact/signals';
import { errorMessage } from '../../../../base/log.ts';
import { objectPath } from '../../../../client/resource-path.ts';
import { secondsText } from '../../../../views/function-calls.ts';
import { fieldsOf } from '../../actions/patch-object.ts';
import { request } from '../../cluster/request.ts';
import type { TabProps } from '../../object/tab.ts';
import { ButtonRow } from '../../shell/button-row.tsx';
import { scrollable } from '../../shell/scrollable.ts';
import { CallNumbers } from './call-numbers.tsx';
import { functionState, prettyJson } from './plan/function-state.ts';

interface Answer {
  readonly isFailure: boolean;
  readonly text: string;
  readonly seconds: number;
}

export function CallTab({ kind, object }: TabProps) {
  const { name, namespace = '' } = object.metadata;
  const argument = useSignal('{}');
  const answer = useSignal<Answer | undefined>(undefined);
  const isCalling = useSignal(false);
  const { health, word, reason } = functionState(fieldsOf(kind, object));
  const call = async () => {
    isCalling.value = true;
    const begun = performance.now();
    const seconds = () => (performance.now() - begun) / 1000;
    try {
      const response = await request(objectPath(kind, name, namespace, 'invoke'), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: argument.value,
      });
      answer.value = { isFailure: false, text: prettyJson(await response.text()), seconds: seconds() };
    } catch (error) {
      answer.value = { isFailure: true, text: errorMessage(error), seconds: seconds() };
    } finally {
      isCalling.value = false;
    }
  };
  return (
    <div class="stack">
      <section class="panel" aria-label="Calls">
        <p>
          <span class={`chip ${health}`}>{word}</span> {reason}
        </p>
        <CallNumbers namespace={namespace} name={name} />
      </section>
      <form
        class="panel call-form"
        onSubmit={(event) => {
          event.preventDefault();
          void call();
        }}
      >
        <label for="argument">
          <h2>Argument as JSON</h2>
        </label>
        <textarea
          id="argument"
          class="mono"
          rows={7}
          spellcheck={false}
          value={argument}
          onInput={(event) => {
            argument.value = event.currentTarget.value;
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
              event.currentTarget.form?.requestSubmit();
          }}
        />
        <ButtonRow>
          <span class="faint">Ctrl Enter calls it too</span>
          <button type="submit" class="primary" disabled={isCalling.value}>
            {isCalling.value ? 'Calling…' : 'Call'}
          </button>
        </ButtonRow>
      </form>
      {answer.value && (
        <section class="panel" aria-label="Answer" aria-live="polite">
          <h2>
            <span class={`chip ${answer.value.isFailure ? 'bad' : 'good'}`}>
              {answer.value.isFailure ? 'failed' : 'answered'}
            </span>{' '}
            <span class="faint">after {secondsText(answer.value.seconds)}</span>
          </h2>
          <pre class="data" {...scrollable}>
            {answer.value.text}
          </pre>
        </section>
      )}
    </div>
  );
}

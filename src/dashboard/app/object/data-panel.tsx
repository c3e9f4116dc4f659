/** The data of a ConfigMap or a Secret; a Secret's values are hidden until the user shows them. */
import { useSignal } from '@preact/signals';
import { recordAt } from '../../../apimachinery/fields.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { decodedSecret } from './plan/secret-value.ts';

export function DataPanel({ object, isSecret }: { readonly object: KubeObject; readonly isSecret: boolean }) {
  const entries = Object.entries({ ...recordAt(object, 'data'), ...recordAt(object, 'binaryData') });
  return (
    <section class="panel" aria-label="Data">
      <h2>Data</h2>
      {entries.length === 0 && <p class="faint">No data.</p>}
      {entries.map(([key, value]) => (
        <Entry key={key} name={key} text={String(value)} isSecret={isSecret} />
      ))}
    </section>
  );
}

function Entry({
  name,
  text,
  isSecret,
}: {
  readonly name: string;
  readonly text: string;
  readonly isSecret: boolean;
}) {
  const isShown = useSignal(!isSecret);
  return (
    <div class="data-entry">
      <h3 class="mono">{name}</h3>
      {isShown.value ? (
        <pre>{isSecret ? decodedSecret(text) : text}</pre>
      ) : (
        <button
          type="button"
          onClick={() => {
            isShown.value = true;
          }}
        >
          Show the value of {name}
        </button>
      )}
    </div>
  );
}

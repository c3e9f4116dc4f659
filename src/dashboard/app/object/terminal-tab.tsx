/** A terminal in a container of a pod. */
import { lazy } from '../shell/lazy.tsx';
import { ContainerChoice } from './container-choice.tsx';
import type { TabProps } from './tab.ts';

const Terminal = lazy(async () => (await import('../terminal/terminal.tsx')).Terminal);

export function TerminalTab({ object }: TabProps) {
  const { name, namespace = '' } = object.metadata;
  return (
    <section aria-label="Terminal">
      <ContainerChoice object={object}>
        {(container) => <Terminal key={container} namespace={namespace} pod={name} container={container} />}
      </ContainerChoice>
    </section>
  );
}

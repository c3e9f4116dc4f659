import type { ComponentChildren } from 'preact';

interface Props {
  readonly label: string;
  readonly children: ComponentChildren;
}

/** A region that scrolls sideways on a narrow screen, with the keyboard as well. */
export const ScrollRegion = ({ label, children }: Props) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard.
  <section class="scroll-x" aria-label={label} tabIndex={0}>
    {children}
  </section>
);

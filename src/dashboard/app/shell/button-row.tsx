import type { ComponentChildren } from 'preact';

/** The buttons at the end of a form, the one that acts last. */
export const ButtonRow = ({ children }: { readonly children: ComponentChildren }) => (
  <div class="button-row">{children}</div>
);

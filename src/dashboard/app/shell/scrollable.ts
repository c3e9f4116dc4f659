/** Attributes of an element that scrolls: the keyboard reaches it. */
export const scrollable = { tabIndex: 0 } as const;

/** The container cannot be configured; the message is shown with the reason CreateContainerConfigError. */
export class ContainerConfigError extends Error {
  override readonly name = 'ContainerConfigError';
}

/** A text that would run if a page took it for HTML. */
export const hostile = `<img src=x onerror="window.hacked=true"><script>window.hacked=true</script>`;

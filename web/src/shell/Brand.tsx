export function Brand() {
  return (
    <span className="brand">
      <svg className="mark" viewBox="0 0 24 24" aria-hidden="true">
        <path
          fill="currentColor"
          d="M3.2 4h15.6a1.2 1.2 0 0 1 1.2 1.2v1.9a1.2 1.2 0 0 1-1.2 1.2h-5v10.5a1.2 1.2 0 0 1-1.2 1.2h-2.2a1.2 1.2 0 0 1-1.2-1.2V8.3h-6A1.2 1.2 0 0 1 2 7.1V5.2A1.2 1.2 0 0 1 3.2 4Z"
        />
        <circle className="dot" cx="17.65" cy="17.55" r="2.35" />
      </svg>
      Terse
    </span>
  )
}

// Search without a server. A browser starts no worker from a file, so the page's search runs in a hidden frame.
// The theme fetches such a script from elsewhere unless the site has one of its own; its search asks for the name.
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = inside.document.createElement("script");
      script.src = url;
      script.onload = () => {
        this.deliver = (data) => inside.dispatchEvent(new MessageEvent("message", { data }));
        this.waiting.forEach(this.deliver);
      };
      inside.document.body.append(script);
    }

    postMessage(data) {
      this.deliver ? this.deliver(data) : this.waiting.push(data);
    }
  };
}
